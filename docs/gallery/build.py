"""Run the examples and store what they print and draw: `python docs/gallery/build.py [NAME ...]`, 30 s for all.

The pages of the gallery show each script with these two files. The tests run every example again and compare the text.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

GALLERY = Path(__file__).parent
EXAMPLES = GALLERY.parents[1] / "examples"
GREYS, COLOURS = 48, 256  # enough for photographs and for charts, at half the size


def main(names: list[str]) -> None:
    for name in names or sorted(path.stem for path in EXAMPLES.glob("*.py")):
        print(name)
        with tempfile.TemporaryDirectory() as folder:
            figure = Path(folder) / "figure.png"
            command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--output", str(figure)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            compact(Image.open(figure).convert("RGB")).save(GALLERY / f"{name}.png", optimize=True)
        (GALLERY / f"{name}.txt").write_text(done.stdout, encoding="utf-8")


def compact(image: Image.Image) -> Image.Image:
    """Return the image with a palette of its own colours, which makes the file smaller."""
    red, green, blue = (channel.tobytes() for channel in image.split())
    return image.quantize(GREYS if red == green == blue else COLOURS, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main(sys.argv[1:])
