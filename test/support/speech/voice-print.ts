import assert from 'node:assert/strict';

const RATE = 24_000;
/** Frames whose sound is softer than this share of the loudest sample tell nothing of a voice. */
const SOFT = 0.05;
/** The pitch of a voice lies between these, in Hz. */
const [LOWEST, HIGHEST] = [70, 350];
/** A stretch as alike as this to the one a period later is voiced. */
const VOICED = 0.6;
/** Samples of a frame of the spectrum, and from one to the next. */
const [WINDOW, STEP] = [1024, 480];
/** Bands of equal width to the ear, between these frequencies. */
const BANDS = 16;
const [FROM_HZ, TO_HZ] = [80, 8000];
const mel = (hertz: number): number => Math.log(1 + hertz / 700);

/** Two texts that share few sounds. */
const TEXTS = ['Where are you going now?', 'My uncle reads the paper.'] as const;

/** What a voice sounds like, whatever it says. */
interface VoicePrint {
  /** The middle of its pitch, in Hz. */
  readonly pitch: number;
  /** The mean level of each band, in decibels about the mean of all. */
  readonly bands: Float64Array;
}

/** Takes the print of a voice from a sentence, 24 kHz. */
function printOf(samples: Float32Array): VoicePrint {
  const peak = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return { pitch: middle(pitches(samples, peak)), bands: bandsOf(samples, peak) };
}

/** How unlike two voices are: semitones between their pitches, and decibels between their bands. */
function unlikeness(one: VoicePrint, other: VoicePrint): number {
  const semitones = 12 * Math.log2(one.pitch / other.pitch);
  const squares = one.bands.reduce((sum, level, band) => sum + (level - other.bands[band]!) ** 2, 0);
  return Math.hypot(semitones, Math.sqrt(squares / BANDS));
}

/** NaN of none. */
const middle = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/**
 * Asserts that voices are audibly different: each is known again in another sentence, by its pitch and the colour of its sound, among all of them (at most
 * `mistaken` are not), and the sentences of one voice are less than half as unlike as those of two. `spoken` gives samples of 24 kHz.
 */
export async function assertApart(
  voices: readonly string[],
  spoken: (voice: string, text: string) => Promise<Float32Array>,
  mistaken = 0,
): Promise<void> {
  const prints: { readonly first: VoicePrint; readonly second: VoicePrint }[] = [];
  for (const voice of voices)
    prints.push({ first: printOf(await spoken(voice, TEXTS[0])), second: printOf(await spoken(voice, TEXTS[1])) });
  const unlike = prints.map(({ first }) => prints.map(({ second }) => unlikeness(first, second)));
  const wrong = unlike.flatMap((row, index) => {
    const nearest = row.indexOf(Math.min(...row));
    return nearest === index ? [] : [`${voices[index]} sounds like ${voices[nearest]}`];
  });
  assert.ok(wrong.length <= mistaken, wrong.join('; '));
  const same = middle(unlike.map((row, index) => row[index]!));
  const different = middle(unlike.flatMap((row, index) => row.filter((_, other) => other !== index)));
  assert.ok(same * 2 < different, `one voice differs by ${same.toFixed(2)} from itself, and by ${different.toFixed(2)} from others`);
}

/** The pitch of each voiced frame, by autocorrelation of the sound at a third of its rate. */
function pitches(samples: Float32Array, peak: number): number[] {
  const low = Float32Array.from(
    { length: Math.floor(samples.length / 3) },
    (_, at) => (samples[3 * at]! + samples[3 * at + 1]! + samples[3 * at + 2]!) / 3,
  );
  const [shortest, longest] = [Math.floor(RATE / 3 / HIGHEST), Math.floor(RATE / 3 / LOWEST)];
  const length = 400;
  const found: number[] = [];
  for (let at = 0; at + length + longest < low.length; at += 80) {
    const energy = product(low, at, at, length);
    if (Math.sqrt(energy / length) < SOFT * peak) continue;
    const alike = Array.from({ length: longest + 1 }, (_, lag) =>
      lag < shortest ? 0 : product(low, at, at + lag, length) / Math.sqrt(energy * product(low, at + lag, at + lag, length) + 1e-9),
    );
    const best = Math.max(...alike);
    // Two periods are as alike as one.
    const lag = alike.findIndex((value, index) => value > 0.9 * best && value >= (alike[index + 1] ?? 0));
    if (best >= VOICED) found.push(RATE / 3 / lag);
  }
  return found;
}

function product(samples: Float32Array, one: number, other: number, length: number): number {
  let sum = 0;
  for (let at = 0; at < length; at += 1) sum += samples[one + at]! * samples[other + at]!;
  return sum;
}

function bandsOf(samples: Float32Array, peak: number): Float64Array {
  const width = (mel(TO_HZ) - mel(FROM_HZ)) / BANDS;
  const bandOf = Array.from({ length: WINDOW / 2 }, (_, bin) => Math.floor((mel((bin * RATE) / WINDOW) - mel(FROM_HZ)) / width));
  const bands = new Float64Array(BANDS);
  let frames = 0;
  for (let at = 0; at + WINDOW < samples.length; at += STEP) {
    if (Math.sqrt(product(samples, at, at, WINDOW) / WINDOW) < SOFT * peak) continue;
    frames += 1;
    const energies = new Float64Array(BANDS).fill(1e-9);
    for (const [bin, band] of bandOf.entries()) if (band >= 0 && band < BANDS) energies[band]! += power(samples, at, bin);
    for (const [band, energy] of energies.entries()) bands[band]! += 10 * Math.log10(energy);
  }
  const mean = bands.reduce((sum, level) => sum + level / frames / BANDS, 0);
  return bands.map((level) => level / frames - mean);
}

const COSINES = Float64Array.from({ length: WINDOW }, (_, at) => Math.cos((2 * Math.PI * at) / WINDOW));
const SHAPE = Float64Array.from({ length: WINDOW }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / WINDOW) ** 2);

/** The power of one frequency in a frame. */
function power(samples: Float32Array, from: number, bin: number): number {
  let [real, imaginary] = [0, 0];
  for (let at = 0; at < WINDOW; at += 1) {
    const value = samples[from + at]! * SHAPE[at]!;
    const angle = (at * bin) % WINDOW;
    real += value * COSINES[angle]!;
    imaginary += value * COSINES[(angle + WINDOW / 4) % WINDOW]!;
  }
  return real ** 2 + imaginary ** 2;
}
