import type { Json, JsonObject } from '../../kernel/json.ts';

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value = JSON.parse(text) as Json;
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
