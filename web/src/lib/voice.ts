/** The voice that the reader chose, kept in this browser. */

export interface ChosenVoice {
  readonly model: string;
  readonly voice: string;
}

const PLACE = 'quern.voice';

/** The chosen voice; undefined where the daemon chooses. */
export function chosenVoice(): ChosenVoice | undefined {
  try {
    const { model, voice } = JSON.parse(localStorage.getItem(PLACE) ?? '{}') as Partial<ChosenVoice>;
    return typeof model === 'string' && typeof voice === 'string' ? { model, voice } : undefined;
  } catch {
    return undefined;
  }
}

export function chooseVoice(voice: ChosenVoice): void {
  localStorage.setItem(PLACE, JSON.stringify(voice));
}
