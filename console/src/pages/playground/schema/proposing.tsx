import { useState } from 'react';
import { playground } from '../../../texts/playground.ts';
import { Button } from '../../../ui/button.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Going } from '../reading/going.tsx';
import type { Conversion } from '../results/conversion.tsx';
import type { SchemaPart } from '../values.ts';

const { schema: texts } = playground;

/** A schema of the document's own labels, taken from its conversion. */
export interface Proposing {
  readonly conversion: Conversion;
  /** The conversion was begun for it. */
  readonly isAsked: boolean;
  /** The document has no labels. */
  readonly isEmpty: boolean;
  readonly propose: () => void;
}

/** Converts the document where it was not yet, and hands its own schema to `onSchema`. */
export const useProposing = (conversion: Conversion, onSchema: (text: string) => void): Proposing => {
  const [isAsked, ask] = useState(false);
  const [isEmpty, mark] = useState(false);
  const propose = async (): Promise<void> => {
    ask(true);
    mark(false);
    const done = conversion.data ?? (await conversion.convert());
    if (done === undefined) return;
    ask(false);
    const schema: SchemaPart = done.proposed_schema ?? {};
    const hasNone = Object.keys(schema.properties ?? {}).length === 0;
    mark(hasNone);
    if (!hasNone) onSchema(JSON.stringify(schema, undefined, 2));
  };
  return { conversion, isAsked, isEmpty, propose: () => void propose() };
};

/** The button, with what it costs. */
export function ProposeButton({ proposing }: { proposing: Proposing }) {
  const { conversion, propose } = proposing;
  const { data, credits, isPending } = conversion;
  return (
    <>
      <Button isBusy={isPending} onClick={propose}>
        {texts.propose}
      </Button>
      <span className="text-[13px] text-soft">
        {data === undefined ? texts.proposeSay(credits) : texts.proposeFree}
      </span>
    </>
  );
}

/** How far it is, and what came of it. */
export function Proposed({ proposing }: { proposing: Proposing }) {
  const { conversion, isAsked, isEmpty, propose } = proposing;
  if (isEmpty) return <p role="status">{texts.nothing}</p>;
  if (!isAsked) return null;
  if (conversion.isPending) return <Going step={conversion.step} onStop={conversion.stop} />;
  return <ProblemNote error={conversion.error} onRetry={propose} />;
}
