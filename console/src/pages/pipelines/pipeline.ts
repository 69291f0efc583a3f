import type { Api } from '@quire/client';
import type { Tone } from '../../ui/badge.tsx';

type ItemOf<Name extends 'listTrainingJobs' | 'listArtifacts' | 'listDeployments'> = Awaited<
  ReturnType<Api[Name]>
>['items'][number];
export type Job = ItemOf<'listTrainingJobs'>;
export type Artifact = ItemOf<'listArtifacts'>;
export type Deployment = ItemOf<'listDeployments'>;
export type Example = NonNullable<
  NonNullable<Parameters<Api['createTrainingJob']>[0]>['body']['examples']
>[number];

export const TONES: Readonly<Record<string, Tone>> = {
  queued: 'neutral',
  running: 'accent',
  succeeded: 'good',
  failed: 'bad',
  active: 'good',
};

/** Whether a job still goes on. */
export const isGoing = (status: string): boolean => status === 'queued' || status === 'running';

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** JSON of an object; undefined where the text is none. */
export const parsedObject = (text: string): object | undefined => {
  const value = jsonOf(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
};

const isExample = (value: unknown): value is Example => {
  if (typeof value !== 'object' || value === null || !('expected' in value)) return false;
  return 'document_id' in value || 'file_uri' in value;
};

/** Examples, one in each line. */
export const linesOf = (examples: readonly object[]): string =>
  examples.map((example) => JSON.stringify(example)).join('\n');

/** Examples as a JSON array or one in each line; undefined where any of it is no example. */
export const examplesOf = (text: string): readonly Example[] | undefined => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const whole = jsonOf(text);
  const values: unknown[] = Array.isArray(whole) ? whole : lines.map(jsonOf);
  return values.every(isExample) ? values : undefined;
};
