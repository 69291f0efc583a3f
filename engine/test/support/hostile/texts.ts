/** Texts that are sent to do harm: what a reader that looks ahead again at every character takes minutes for. */
const runs = (count: number): string =>
  Array.from({ length: count }, (_, at) => `${'`'.repeat(at + 1)} `).join('');

export const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  'brackets and blanks': '[ '.repeat(70_000),
  'an angle bracket and blanks': `<${' '.repeat(60_000)}`,
  'angle brackets and blanks': '< '.repeat(60_000),
  'the fence, begun': '< / document_tex '.repeat(10_000),
  'the fence, with blanks in it': `<${' '.repeat(30_000)}/${' '.repeat(30_000)}document_text>`,
  'backticks in runs of all lengths': runs(500),
  'backticks, one by one': '` '.repeat(70_000),
  'images, begun': '![a]('.repeat(30_000),
  'links, begun': '[a](http://a(b'.repeat(10_000),
  'links with titles, begun': '[a](b "c'.repeat(20_000),
  'definitions, begun': '[a\n'.repeat(50_000),
  stars: '*'.repeat(150_000),
  'stars and letters': '*a '.repeat(50_000),
  'underscores and letters': '_a '.repeat(50_000),
  tildes: '~~a'.repeat(50_000),
  backslashes: '\\'.repeat(150_000),
  'entities, begun': '&#'.repeat(70_000),
  'mail addresses, begun': 'a@a.'.repeat(40_000),
  'mail addresses in brackets, begun': `<${'a.'.repeat(70_000)}`,
  'a word of 150 kB': 'a'.repeat(150_000),
  'a number of 150 kB': '1'.repeat(150_000),
  'digits and blanks': '1 '.repeat(70_000),
  'digits and stops': '1.'.repeat(70_000),
  'digits and commas': '1,234'.repeat(30_000),
  blanks: `a${' '.repeat(150_000)}b`,
  'line feeds': `a${'\n'.repeat(150_000)}b`,
  'blanks and line feeds': ' \n'.repeat(70_000),
  pipes: '|'.repeat(100_000),
  'marks that stay open': '|*_'.repeat(50_000),
  colons: 'total: '.repeat(20_000),
  dates: '31.12.2026 '.repeat(12_000),
  capitals: 'Acme GmbH & Co. '.repeat(9_000),
  'postal codes': '12345 Berlin, Musterstr. 1 '.repeat(5_000),
  hyphens: '-'.repeat(150_000),
  quotes: '> '.repeat(70_000),
  'list marks': '- '.repeat(70_000),
  headings: '# '.repeat(70_000),
  'tags, begun': '<a '.repeat(50_000),
  'comments, begun': '<!--'.repeat(40_000),
};

/** Those that held the service or its readers longest before they were mended; `bench:hostile` sends all. */
const WORST = [
  'brackets and blanks',
  'an angle bracket and blanks',
  'the fence, with blanks in it',
  'backticks in runs of all lengths',
  'definitions, begun',
  'digits and blanks',
  'a word of 150 kB',
  'comments, begun',
];
export const WORST_TEXTS: Readonly<Record<string, string>> = Object.fromEntries(
  WORST.map((name) => [name, HOSTILE_TEXTS[name] ?? '']),
);

/** What a model of a stranger may answer. */
export const HOSTILE_ANSWERS: Readonly<Record<string, string>> = {
  'a million brackets': `{"rows":[${'[],'.repeat(400_000)}[]]}`,
  'nesting without end': `{"rows":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
  'forty thousand rows': `{"rows":[${'{"name":"a row"},'.repeat(40_000)}{}]}`,
  'braces and blanks': '{ '.repeat(500_000),
  'a million members': `{${Array.from({ length: 100_000 }, (_, at) => `"m${String(at)}":1`).join()}}`,
};
