import type { ReactNode } from 'react';

/** One figure with its name, and a line that explains it. */
export function Stat({ name, value, say }: { name: string; value: ReactNode; say?: ReactNode }) {
  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <div className="text-[13px] text-soft">{name}</div>
      <div className="mt-1 text-2xl leading-8 font-semibold">{value}</div>
      {say !== undefined && <div className="text-[13px] text-soft">{say}</div>}
    </div>
  );
}
