import type { Api } from '@quire/client';
import { pipelines } from '../../texts/pipelines.ts';
import { classes } from '../../ui/style.ts';

type ItemOf<Name extends 'listTrainingJobs' | 'listArtifacts' | 'listDeployments'> = Awaited<
  ReturnType<Api[Name]>
>['items'][number];
export type Job = ItemOf<'listTrainingJobs'>;
export type Artifact = ItemOf<'listArtifacts'>;
export type Deployment = ItemOf<'listDeployments'>;

/** Whether a job still goes on. */
export const isGoing = (status: string): boolean => status === 'queued' || status === 'running';

interface Score {
  readonly path: string;
  readonly baseline: number;
  readonly best: number;
}

function Row({ path, baseline, best }: Score) {
  return (
    <tr className="border-t border-line">
      <th scope="row" className="py-1.5 pr-4 text-left font-normal break-all">
        {path}
      </th>
      <td className="w-24 py-1.5 text-right text-soft">{pipelines.score(baseline)}</td>
      <td
        className={classes(
          'w-24 py-1.5 text-right font-medium',
          best > baseline && 'text-good',
          best < baseline && 'text-bad',
        )}
      >
        {pipelines.score(best)}
      </td>
    </tr>
  );
}

interface ScoresProps {
  readonly all: { readonly baseline: number | null; readonly best: number | null };
  readonly fields: readonly Score[];
}

/** How well each field was read before the training and after it. */
export function Scores({ all, fields }: ScoresProps) {
  const { baseline, best } = all;
  if (baseline === null || best === null) return null;
  return (
    <table className="w-full max-w-2xl">
      <caption className="pb-2 text-left text-[13px] text-soft">{pipelines.jobs.scores}</caption>
      <thead>
        <tr className="text-[13px] text-soft">
          <th scope="col" className="text-left font-medium">
            {pipelines.columns.field}
          </th>
          <th scope="col" className="text-right font-medium">
            {pipelines.columns.before}
          </th>
          <th scope="col" className="text-right font-medium">
            {pipelines.columns.after}
          </th>
        </tr>
      </thead>
      <tbody>
        <Row path={pipelines.jobs.overall} baseline={baseline} best={best} />
        {fields.map((field) => (
          <Row key={field.path} {...field} />
        ))}
      </tbody>
    </table>
  );
}
