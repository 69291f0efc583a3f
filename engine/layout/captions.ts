const CAPTION = new RegExp(
  String.raw`^[[(]?(?:tab(?:le|elle|leau|ella|la|ela)?|fig(?:ure|ur|ura)?|abb(?:ildung)?|exhibit|chart|graph|` +
    String.raw`grafik|gráfico|cuadro|plate|box|listing|scheme|표|그림|図|表|图)\.?\s{0,2}[A-Z]{0,3}[-.]?\d`,
  'i',
);

/** Whether a text is said of a table or a picture: it stands beside one, never in one, and heads no section. */
export const isCaption = (text: string): boolean => CAPTION.test(text);
