#!/usr/bin/env python3
"""Prints every opening of three stones on a board of SIZE by SIZE points, one up to symmetry, as
roots for `kagetsu build --roots`: black, white, black. 15 by 15 points have 703,934."""

import sys


def main(size: int) -> None:
    points = [(x, y) for y in range(size) for x in range(size)]
    last = size - 1
    turns = [
        lambda x, y: (x, y),
        lambda x, y: (last - x, y),
        lambda x, y: (x, last - y),
        lambda x, y: (last - x, last - y),
        lambda x, y: (y, x),
        lambda x, y: (last - y, x),
        lambda x, y: (y, last - x),
        lambda x, y: (last - y, last - x),
    ]
    images = [[points.index(turn(*point)) for point in points] for turn in turns]
    names = [f"{chr(ord('a') + x)}{y + 1}" for x, y in points]
    count = len(points)
    for first in range(count):
        for second in range(first + 1, count):
            pairs = [sorted((image[first], image[second])) for image in images]
            if min(pairs) != [first, second]:
                continue
            # The symmetries that keep the black stones may move the white one.
            kept = [image for image, pair in zip(images, pairs) if pair == [first, second]]
            for white in range(count):
                if white not in (first, second) and all(image[white] >= white for image in kept):
                    print(names[first], names[white], names[second])


main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
