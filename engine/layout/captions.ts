const CAPTION = new RegExp(
  String.raw`^[[(]?(?:tab(?:le|elle|leau|ella|la|ela)?|fig(?:ure|ur|ura)?|abb(?:ildung)?|exhibit|chart|graph|` +
    String.raw`grafik|gráfico|cuadro|plate|box|listing|scheme|표|그림|図|表|图)\.?\s{0,2}[A-Z]{0,3}[-.]?\d`,
  'i',
);

/** Whether a text is said of a table or a picture: it stands beside one, never in one, and heads no section. */
export const isCaption = (text: string): boolean => CAPTION.test(text);

const NOTE = new RegExp(
  String.raw`^[*†‡\d]{0,2}\s?(?:sources?|notes?|quellen?|fuentes?|fonti?|fontes?|anmerkung(?:en)?|remarques?|` +
    String.raw`notas?|n\.\s?b\.)\s?[:：]`,
  'i',
);

/** Whether a text says where figures come from, or what they mean. */
export const isNote = (text: string): boolean => NOTE.test(text);
