/** Words to fill pages with: short and long ones, as in any text. */
export const plainWords: readonly string[] = (
  'the of and to in is that for it as was with be by on not this are or from have an which one were all ' +
  'their there when more time than other some into only new could these two may first then any like our ' +
  'water engine pressure valve temperature measurement installation maintenance operation schedule report ' +
  'delivery customer contract payment department responsible procedure requirement standard quality safety ' +
  'production transport material surface corrosion inspection certificate drawing approval responsibility ' +
  'consumption electrical mechanical hydraulic equipment replacement documentation environment performance'
).split(' ');
