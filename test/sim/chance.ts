/** A number from 0 up to 2^32, that follows from its parts and looks random. */
export const chance = (...parts: readonly (string | number)[]): number => {
  let h = 0x811c9dc5;
  for (const part of parts) {
    const text = String(part);
    for (let at = 0; at < text.length; at += 1) h = Math.imul(h ^ text.charCodeAt(at), 0x01000193);
    h = Math.imul(h ^ 0x1f, 0x01000193);
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};

/** 0 ≤ x < 1. */
export const fraction = (...parts: readonly (string | number)[]): number => chance(...parts) / 2 ** 32;
