/** The Python that has what the specs need: Debian's, unless `PYTHON` names another. */
export const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3';
