"""Stand-in for numba: functions stay Python's."""


def jit(*arguments, **options):
    return arguments[0] if arguments and callable(arguments[0]) else lambda function: function


njit = jit
