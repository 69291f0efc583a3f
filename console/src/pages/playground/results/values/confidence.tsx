import { playground } from '../../../../texts/playground.ts';

const { results: texts } = playground;

/** Green, yellow or red. */
export const toneOf = (share: number): string =>
  [[0.9, 'bg-good'] as const, [0.7, 'bg-warn'] as const].find(([least]) => share >= least)?.[1] ?? 'bg-bad';

/** How certain a value is, as a bar and in figures. */
export function Confidence({ share }: { share: number }) {
  return (
    <span className="flex items-center gap-1.5" title={texts.confidence(share)}>
      <span aria-hidden className="h-1.5 w-10 overflow-hidden rounded-full bg-sunken">
        <span className={`block h-full ${toneOf(share)}`} style={{ width: `${String(share * 100)}%` }} />
      </span>
      <span className="w-9 text-right text-[13px] text-soft">{Math.round(share * 100)} %</span>
    </span>
  );
}
