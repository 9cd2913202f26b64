"""A band of a vibration record as sound: WAV files that a browser plays."""

from __future__ import annotations

import base64
import io
import math
import wave

import numpy as np
import scipy.signal

from .._arrays import Array
from ..vibration.band_map import BandMap
from ..vibration.band_tree import Band

LOWEST_PLAYABLE_RATE = 8_000.0  # samples per second, in every browser
HIGHEST_PLAYABLE_RATE = 48_000.0
MOST_SECONDS_OF_SOUND = 10.0
LARGEST_SAMPLE = 0.9 * 32767  # of 16 bits
RAMP_SECONDS = 0.02  # in which a sound rises and falls, so that it does not click


def sound_of_band(found: BandMap, band: Band) -> bytes:
    """Return the samples of a band as a WAV file."""
    samples = found.signal(band)[: int(MOST_SECONDS_OF_SOUND * found.rate)]
    return make_wav(samples, found.rate)


def sound_of_envelope(found: BandMap, band: Band) -> bytes:
    """Return the envelope of a band as a WAV file: the knocks without the ringing."""
    times, values = found.envelope(band)
    rate = 1 / float(times[1] - times[0])
    return make_wav(values[: int(MOST_SECONDS_OF_SOUND * rate)], rate)


def make_wav(samples: Array, rate: float) -> bytes:
    """Return samples as a WAV file of 16 bits, without their mean, at full height and at a rate that browsers play."""
    centred = samples - samples.mean()
    wanted = min(max(rate, LOWEST_PLAYABLE_RATE), HIGHEST_PLAYABLE_RATE)
    if wanted != rate:
        count = max(2, round(len(centred) * wanted / rate))
        centred = scipy.signal.resample(centred, count)
    height = float(np.abs(centred).max())
    scaled = centred * (LARGEST_SAMPLE / height) if height > 0 and math.isfinite(height) else np.zeros(len(centred))
    ramp = min(int(RAMP_SECONDS * wanted), len(scaled) // 2)
    if ramp:
        rise = np.linspace(0, 1, ramp)
        scaled[:ramp] *= rise
        scaled[-ramp:] *= rise[::-1]
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(round(wanted))
        sound.writeframes(np.round(scaled).astype("<i2").tobytes())
    return file.getvalue()


def audio_element(sound: bytes, label: str) -> str:
    """Return an element of the page that plays a WAV file; the label must be safe to stand in HTML."""
    source = base64.b64encode(sound).decode("ascii")
    player = f'<audio controls aria-label="{label}" src="data:audio/wav;base64,{source}"></audio>'
    return f"<figure><figcaption>{label}</figcaption>{player}</figure>"
