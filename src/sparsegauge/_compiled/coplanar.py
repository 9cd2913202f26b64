"""Which two of many vectors are parallel, and which three lie in a plane? By buckets: n^2 steps, not n^3.

Vectors come as sketches, `sketch[s, j]` being the s-th coordinate of the j-th, in groups of three coordinates. What is
parallel or coplanar is so in every group. The first group finds candidates: seen along the i-th vector, two others that
are coplanar with it have the same direction, which is a number, and numbers that are nearly the same share a bucket.
The other groups confirm them.
"""

from __future__ import annotations

import math

import numpy as np

from .vocabulary import Array, Indices, Matrix, entry, kernel, record

TURN = 4.0  # the length of the circle of directions


@record
class CoplanarRoom:
    """Working memory for at most n vectors in so many groups of three coordinates."""

    unit: Matrix  # one row per vector: three coordinates per group, of length 1 in each
    number: Array
    first: Indices  # in each bucket
    following: Indices  # in the same bucket

    def __init__(self, n: int, sketches: int) -> None:
        self.unit = np.empty((n, sketches))
        self.number = np.empty(n)
        self.first, self.following = np.empty((2, n + 1), np.int64)


@kernel
def write_units(sketch: Matrix, places: Indices, room: CoplanarRoom) -> bool:
    """Write the vectors at the given places, scaled to length 1 in each group; return False where one is zero."""
    for k in range(len(places)):
        for group in range(0, sketch.shape[0], 3):
            square = 0.0
            for s in range(group, group + 3):
                square += sketch[s, places[k]] * sketch[s, places[k]]
            if not square > 0.0:
                return False
            for s in range(group, group + 3):
                room.unit[k, s] = sketch[s, places[k]] / math.sqrt(square)
    return True


@kernel
def are_parallel(j: int, k: int, near: float, room: CoplanarRoom) -> bool:
    """Return whether two vectors are parallel in every group."""
    for group in range(0, room.unit.shape[1], 3):
        inner = 0.0
        for s in range(group, group + 3):
            inner += room.unit[j, s] * room.unit[k, s]
        sign = 1.0 if inner > 0.0 else -1.0
        square = 0.0
        for s in range(group, group + 3):
            gap = room.unit[j, s] - sign * room.unit[k, s]
            square += gap * gap
        if square > near * near:
            return False
    return True


@kernel
def are_coplanar(i: int, j: int, k: int, near: float, room: CoplanarRoom) -> bool:
    """Return whether three vectors are in one plane in every group."""
    for g in range(0, room.unit.shape[1], 3):
        determinant = room.unit[i, g] * (
            room.unit[j, g + 1] * room.unit[k, g + 2] - room.unit[j, g + 2] * room.unit[k, g + 1]
        )
        determinant -= room.unit[i, g + 1] * (
            room.unit[j, g] * room.unit[k, g + 2] - room.unit[j, g + 2] * room.unit[k, g]
        )
        determinant += room.unit[i, g + 2] * (
            room.unit[j, g] * room.unit[k, g + 1] - room.unit[j, g + 1] * room.unit[k, g]
        )
        if abs(determinant) > near:
            return False
    return True


@kernel
def bucket_of(number: float, width: float, count: int) -> int:
    """Return the bucket of a number between 0 and TURN."""
    return min(max(int(number / width), 0), count - 1)


@kernel
def meets(j: int, number: float, bucket: int, i: int, near: float, room: CoplanarRoom) -> bool:
    """Return whether a vector in the bucket is parallel to the j-th (i < 0), or coplanar with the i-th and j-th."""
    k = room.first[bucket]
    while k >= 0:
        gap = abs(room.number[k] - number)
        if min(gap, TURN - gap) <= near:
            related = are_parallel(j, k, near, room) if i < 0 else are_coplanar(i, j, k, near, room)
            if related:
                return True
        k = room.following[k]
    return False


@kernel
def find_among(begin: int, n: int, i: int, near: float, room: CoplanarRoom) -> bool:
    """Sort the vectors from `begin` into buckets by their numbers, and look among those that are near each other."""
    count = n
    width = max(TURN / count, near)
    count = int(TURN / width)
    for b in range(count):
        room.first[b] = -1
    for j in range(begin, n):
        number = room.number[j]
        bucket = bucket_of(number, width, count)
        before = bucket - 1 if bucket > 0 else count - 1
        after = bucket + 1 if bucket + 1 < count else 0
        if meets(j, number, bucket, i, near, room):
            return True
        if number - bucket * width <= near and meets(j, number, before, i, near, room):
            return True
        if (bucket + 1) * width - number <= near and meets(j, number, after, i, near, room):
            return True
        room.following[j] = room.first[bucket]
        room.first[bucket] = j
    return False


@kernel
def write_directions(i: int, n: int, room: CoplanarRoom) -> None:
    """Write, for each vector behind the i-th, its direction as seen along the i-th, up to its sign: 0 to TURN."""
    a = room.unit[i, 0]
    b = room.unit[i, 1]
    c = room.unit[i, 2]
    # two vectors orthogonal to (a, b, c), by Duff et al., "Building an orthonormal basis, revisited", 2017
    sign = 1.0 if c >= 0.0 else -1.0
    e = -1.0 / (sign + c)
    f = a * b * e
    for j in range(i + 1, n):
        x = room.unit[j, 0]
        y = room.unit[j, 1]
        z = room.unit[j, 2]
        p = (1.0 + sign * a * a * e) * x + sign * f * y - sign * a * z
        q = f * x + (sign + b * b * e) * y - b * z
        flat = abs(p) <= abs(q)
        top = p if flat else q
        bottom = q if flat else p
        slope = top / bottom if bottom != 0.0 else 0.0
        room.number[j] = 1.0 + slope if flat else 3.0 - slope


@entry
def find_dependent(sketch: Matrix, places: Indices, near_pair: float, near_triple: float, room: CoplanarRoom) -> int:
    """Return how many vectors were found that depend on each other: 2 or 3, or 0; and 1 where a sketch is zero.

    `near_pair` is the largest sine of an angle, and `near_triple` the largest determinant, of vectors that do.
    """
    n = len(places)
    if not write_units(sketch, places, room):
        return 1
    for j in range(n):
        room.number[j] = abs(room.unit[j, 0])
    if find_among(0, n, -1, near_pair, room):
        return 2
    for i in range(n - 2):
        write_directions(i, n, room)
        if find_among(i + 1, n, i, near_triple, room):
            return 3
    return 0


@entry
def has_simple_ratio(x: Array, most: int, tolerance: float) -> bool:
    """Return whether two of the magnitudes have a ratio p/q with p, q <= most, up to a relative tolerance."""
    for i in range(len(x)):
        for j in range(i):
            ratio = abs(x[i]) / abs(x[j])
            if ratio < 1.0:
                ratio = 1.0 / ratio
            if ratio > most + 0.5:
                continue
            for q in range(1, most + 1):
                product = ratio * q
                whole = math.floor(product + 0.5)
                if whole > most:
                    break
                if abs(product - whole) <= tolerance * product:
                    return True
    return False
