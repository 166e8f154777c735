"""filters, colors, geometry, features, losses and augmentations on images, with gradients"""

import kornia as K
import torch

PACKAGES = ("kornia",)


def images():
    return torch.rand(2, 3, 24, 24, requires_grad=True)


def filters():
    x = images()
    found = {
        "gaussian": K.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)),
        "box": K.filters.box_blur(x, (3, 3)),
        "median": K.filters.median_blur(x, (3, 3)),
        "sobel": K.filters.sobel(x),
        "laplacian": K.filters.laplacian(x, 3),
        "canny": K.filters.canny(x.detach())[0],
        "unsharp": K.filters.unsharp_mask(x, (3, 3), (1.0, 1.0)),
        "bilateral": K.filters.bilateral_blur(x, (3, 3), 0.1, (1.0, 1.0)),
    }
    sum(value.sum() for value in found.values() if value.requires_grad).backward()
    found["grad"] = x.grad
    return found


def colors():
    x = images().detach()
    names = "rgb_to_grayscale rgb_to_hsv rgb_to_hls rgb_to_lab rgb_to_luv rgb_to_ycbcr rgb_to_yuv rgb_to_xyz".split()
    found = {name: getattr(K.color, name)(x) for name in names}
    found["back"] = K.color.hsv_to_rgb(K.color.rgb_to_hsv(x))
    found["equalize"] = K.enhance.equalize(x)
    found["brightness"] = K.enhance.adjust_brightness(x, 0.2)
    found["hue"] = K.enhance.adjust_hue(x, 0.3)
    found["gamma"] = K.enhance.adjust_gamma(x, 1.7)
    return found


def geometry():
    x = images()
    angle = torch.tensor([15.0, -40.0])
    points = torch.tensor([[[1.0, 1.0], [20.0, 2.0], [19.0, 21.0], [2.0, 18.0]]]).repeat(2, 1, 1)
    target = torch.tensor([[[0.0, 0.0], [23.0, 0.0], [23.0, 23.0], [0.0, 23.0]]]).repeat(2, 1, 1)
    homography = K.geometry.get_perspective_transform(points, target)
    found = {
        "rotate": K.geometry.rotate(x, angle),
        "homography": homography,
        "warp": K.geometry.warp_perspective(x, homography, (24, 24)),
        "resize": K.geometry.resize(x, (17, 30), antialias=True),
        "pyramid": K.geometry.pyrdown(x),
        "quaternion": K.geometry.conversions.axis_angle_to_rotation_matrix(torch.randn(4, 3)),
    }
    found["warp"].square().sum().backward()
    found["grad"] = x.grad
    return found


def features_and_losses():
    x, y = images(), images().detach()
    found = {
        "harris": K.feature.harris_response(x.detach()[:, :1]),
        "hog": K.feature.gftt_response(x.detach()[:, :1]),
        "ssim": K.losses.ssim_loss(x, y, 5),
        "dice": K.losses.dice_loss(torch.randn(2, 4, 8, 8), torch.randint(4, (2, 8, 8))),
        "focal": K.losses.focal_loss(torch.randn(2, 4, 8, 8), torch.randint(4, (2, 8, 8)), 0.5),
        "tv": K.losses.total_variation(x),
        "dilation": K.morphology.dilation(x.detach(), torch.ones(3, 3)),
        "distance": K.contrib.distance_transform((y[:, :1] > 0.9).float()),
    }
    found["ssim"].backward()
    found["grad"] = x.grad
    return found


def augmentations():
    augment = K.augmentation.AugmentationSequential(
        K.augmentation.RandomHorizontalFlip(p=0.5),
        K.augmentation.RandomAffine(20.0, p=1.0),
        K.augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0),
        data_keys=["input", "mask"],
    )
    x = images().detach()
    return list(augment(x, (x[:, :1] > 0.5).float()))


CASES = {
    "filters": filters,
    "colors": colors,
    "geometry": geometry,
    "features_and_losses": features_and_losses,
    "augmentations": augmentations,
}
