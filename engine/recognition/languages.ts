/** Common short words of each language, by Tesseract's names. One that is not here is only used when it comes first. */
const COMMON: Readonly<Record<string, string>> = {
  eng: 'the of and to in is for that with on as are this by be from at or an it not have you your',
  deu:
    'der die das und ist in den von zu mit für auf ein eine nicht dem des im sie werden bei ' +
    'auch als wird zum zur einer oder sich wir ihre bitte',
  fra:
    'le la les de des du et est en un une pour que qui dans par sur au avec pas plus vous ' +
    'nous votre ce cette sont aux ou',
  spa: 'el la los las de del y en que un una por para con no se es su al lo más como pero sus este esta',
  ita: 'il la i le di del della e in che un una per con non si è al dei delle sono nel alla come più da',
  nld: 'de het een en van in is dat op te voor met niet zijn aan er ook als bij door naar wij',
  por: 'o a os as de do da dos das e em que um uma por para com não se no na ao mais como',
};

const SETS = new Map(
  Object.entries(COMMON).map(([language, words]) => [language, new Set(words.split(' '))]),
);

/** The language of most common words in a text, of those asked for; undefined when there are too few to say. */
export function likelyLanguage(words: readonly string[], languages: readonly string[]): string | undefined {
  const plain = words
    .map((word) => word.toLowerCase().replace(/[^\p{L}]/gu, ''))
    .filter((word) => word !== '');
  let best: { readonly language: string; readonly hits: number } | undefined;
  for (const language of languages) {
    const set = SETS.get(language);
    if (set === undefined) continue;
    const hits = plain.filter((word) => set.has(word)).length;
    if (hits > (best?.hits ?? 0)) best = { language, hits };
  }
  return best !== undefined && best.hits >= 3 && best.hits >= 0.04 * plain.length ? best.language : undefined;
}
