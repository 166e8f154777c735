"""Box functions."""


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def batched_nms(boxes, scores, labels, threshold):
    raise NotImplementedError("stand-in for torchvision: no suppression of boxes")
