"""Names that data sets import for their downloads; none is made."""


def _refuse(*arguments, **options):
    raise NotImplementedError("stand-in for torchvision: no downloads")


check_integrity = download_url = download_file_from_google_drive = list_dir = list_files = _refuse
