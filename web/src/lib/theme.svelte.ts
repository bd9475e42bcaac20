/** Dark or light: what the reader chose, else what the system asks for. */
export type Theme = 'system' | 'light' | 'dark';

const PLACE = 'quern.theme';
const darkSystem = matchMedia('(prefers-color-scheme: dark)');

class ThemeChoice {
  #choice = $state<Theme>((localStorage.getItem(PLACE) as Theme | null) ?? 'system');
  /** Whether the page is dark now. What takes colours out of the styles reads it, and takes them anew when it changes. */
  isDark = $state(false);

  constructor() {
    this.#apply();
    darkSystem.addEventListener('change', () => this.#apply());
  }

  get choice(): Theme {
    return this.#choice;
  }

  choose(theme: Theme): void {
    this.#choice = theme;
    localStorage.setItem(PLACE, theme);
    this.#apply();
  }

  #apply(): void {
    this.isDark = this.#choice === 'dark' || (this.#choice === 'system' && darkSystem.matches);
    document.documentElement.dataset.theme = this.isDark ? 'dark' : 'light';
  }
}

export const theme = new ThemeChoice();
