import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALLED } from '../kernel/installed.ts';

/** The recognition data, unpacked by the build. */
export const TESSDATA = join(INSTALLED, 'dist/tessdata');

/** Languages whose data are there, of those asked for, in their order. */
export const available = (languages: readonly string[]): readonly string[] =>
  languages.filter((language) => existsSync(join(TESSDATA, `${language}.traineddata`)));
