/** Records what the microphone hears, as a file that the daemon reads. */
const FORMS = [
  ['audio/webm;codecs=opus', 'webm'],
  ['audio/mp4', 'm4a'],
] as const;

export class Recorder {
  isOn = $state(false);
  /** The browser asks the reader for the microphone, or puts together what was recorded. */
  isAsking = $state(false);
  seconds = $state(0);
  #recorder: MediaRecorder | undefined;
  #pieces: Blob[] = [];
  #isLeft = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Gives the microphone back for good, also where it is still asked for. */
  leave(): void {
    this.#isLeft = true;
    this.drop();
  }

  /** Begins; rejects with a sentence where the microphone cannot be had. */
  async start(): Promise<void> {
    if (!navigator.mediaDevices)
      throw new Error('Browsers give a microphone to pages of this machine or of HTTPS alone. Drop a file instead.');
    let stream: MediaStream;
    this.isAsking = true;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch (error) {
      const isRefused = error instanceof DOMException && error.name === 'NotAllowedError';
      throw new Error(
        isRefused
          ? 'The browser was told not to give the microphone. Allow it beside the address, and try again.'
          : 'No microphone was found.',
      );
    } finally {
      this.isAsking = false;
    }
    if (this.#isLeft) {
      for (const track of stream.getTracks()) track.stop();
      return;
    }
    const [type] = FORMS.find(([one]) => MediaRecorder.isTypeSupported(one)) ?? [''];
    this.#recorder = new MediaRecorder(stream, type ? { mimeType: type } : {});
    this.#pieces = [];
    this.#recorder.addEventListener('dataavailable', ({ data }) => this.#pieces.push(data));
    this.#recorder.start(1_000);
    [this.isOn, this.seconds] = [true, 0];
    this.#timer = setInterval(() => (this.seconds += 1), 1_000);
  }

  /** Ends, and gives what was recorded. */
  stop(): Promise<File> {
    const recorder = this.#recorder!;
    this.isAsking = true;
    return new Promise((resolve) => {
      recorder.addEventListener('stop', () => {
        const [, ending = 'webm'] = FORMS.find(([type]) => recorder.mimeType.startsWith(type.split(';')[0]!)) ?? [];
        resolve(new File(this.#pieces, `recording.${ending}`, { type: recorder.mimeType }));
        this.drop();
      });
      recorder.stop();
    });
  }

  /** Gives the microphone back; what was recorded is thrown away. */
  drop(): void {
    clearInterval(this.#timer);
    [this.isOn, this.isAsking] = [false, false];
    for (const track of this.#recorder?.stream.getTracks() ?? []) track.stop();
    this.#recorder = undefined;
  }
}
