import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

const withPackage = (folder: string): string =>
  existsSync(join(folder, 'package.json')) || dirname(folder) === folder
    ? folder
    : withPackage(dirname(folder));

/** The folder that the service is installed in, however deep below it its code is compiled to. */
export const INSTALLED = withPackage(here);

/** The folder in it that the code which runs lies in. */
export const CODE = join(INSTALLED, relative(INSTALLED, here).split(sep)[0] ?? '');
