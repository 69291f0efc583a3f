import { exactNumber } from './text.ts';
import { isObject, type Json, type JsonObject } from './json.ts';

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gis;

/** A number that no double holds is the text that it was written as, for JSON reads another number, or none. */
const withTexts = (json: string): string =>
  json.replaceAll(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || exactNumber(token) !== undefined ? token : `"${token}"`,
  );

const parsed = (text: string): JsonObject | undefined => {
  try {
    // what is no JSON is so before its numbers are looked at
    JSON.parse(text);
    const value = JSON.parse(withTexts(text)) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The JSON object in a model's answer: the answer itself, or what stands between its first and last brace,
 * since models put fences or sentences around it. undefined when there is none, or it was cut off.
 */
export const objectInAnswer = (answer: string): JsonObject | undefined => {
  const whole = parsed(answer);
  if (whole !== undefined) return whole;
  const [from, to] = [answer.indexOf('{'), answer.lastIndexOf('}')];
  return from < 0 || to <= from ? undefined : parsed(answer.slice(from, to + 1));
};
