// Makes the map of runtime in docs/architecture.md from runtime/floors.json: node scripts/floors.mjs writes it, and --print only prints it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

const PAGE = join(root, 'docs/architecture.md');
const BEGIN = '<!-- The map is made by scripts/floors.mjs from runtime/floors.json. -->\n';
const END = '<!-- End of the map. -->\n';

const { floors } = JSON.parse(readFileSync(join(root, 'runtime/floors.json'), 'utf8'));
const rows = floors.flatMap(({ name, folders, neighbours = {} }, index) =>
  Object.entries(folders).map(([folder, holds]) => {
    const beside = (neighbours[folder] ?? []).map((one) => `\`${one}\``).join(', ');
    return `| ${index + 1} ${name} | \`${folder}/\` | ${holds} | ${beside} |\n`;
  }),
);
const map = ['| Floor | Folder | Holds | Beside lower floors it imports |\n', '|---|---|---|---|\n', ...rows].join('');

if (process.argv.includes('--print')) process.stdout.write(map);
else {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`${PAGE} lacks the two lines between which the map stands: ${BEGIN}${END}`);
  writeFileSync(PAGE, `${before}${BEGIN}\n${map}\n${END}${after}`);
}
