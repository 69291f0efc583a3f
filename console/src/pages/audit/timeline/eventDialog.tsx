import type { ReactNode } from 'react';
import { audit } from '../../../texts/audit.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { JsonEditor } from '../../../ui/editor/jsonEditor.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { Copy } from '../../../ui/values/copy.tsx';
import { Time } from '../../../ui/values/time.tsx';
import type { Verdict } from '../verification/verifier.ts';
import type { SeenEvent } from './useEvents.ts';
import { wordsOf } from './words.ts';

const eventTexts = audit.event;

const TONES: Readonly<Record<Verdict['kind'], Tone>> = {
  verified: 'good',
  waiting: 'neutral',
  broken: 'bad',
  behind: 'bad',
};

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[13px] text-soft">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}

function Hash({ name, text }: { name: string; text: string | null }) {
  return (
    <Fact name={name}>
      <code className="text-[13px] break-all">{text ?? eventTexts.unknown}</code>{' '}
      {text !== null && <Copy text={text} />}
    </Fact>
  );
}

const sayOf = (verdict: Verdict): string | undefined => {
  if (verdict.kind === 'broken') return audit.flaws[verdict.flaw];
  return verdict.kind === 'behind' ? audit.verdict.behindSay(verdict.first.revision) : undefined;
};

interface EventDialogProps {
  readonly seen: SeenEvent;
  readonly verdict: Verdict;
  readonly onClose: () => void;
  readonly onStream: (stream: string) => void;
}

/** All of one event: in words, its hashes, and the JSON that was hashed. */
export function EventDialog({ seen: { event }, verdict, onClose, onStream }: EventDialogProps) {
  const { what, who, why, when, request } = wordsOf(event);
  const say = sayOf(verdict);
  const json = event.covered === null ? undefined : JSON.stringify(JSON.parse(event.covered), null, 2);
  return (
    <Dialog isOpen isWide title={what} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[verdict.kind]}>{audit.verdict[verdict.kind]}</Badge>
        {say}
      </p>
      <dl className="grid gap-3 sm:grid-cols-2">
        <Fact name={eventTexts.who}>{who ?? eventTexts.unknown}</Fact>
        <Fact name={eventTexts.when}>
          <Time at={when} />
        </Fact>
        <Fact name={eventTexts.why}>{why ?? eventTexts.unknown}</Fact>
        <Fact name={eventTexts.request}>
          <code className="text-[13px] break-all">{request ?? eventTexts.unknown}</code>
        </Fact>
        <Fact name={eventTexts.stream}>
          <span className="break-all">{event.stream}</span>{' '}
          <Button size="small" look="quiet" onClick={() => onStream(event.stream)}>
            {eventTexts.streamOnly}
          </Button>
        </Fact>
        <Fact name={eventTexts.place}>
          {audit.list.revision(event.revision)}, {audit.list.position(event.position)}
        </Fact>
        <Hash name={eventTexts.hash} text={event.hash} />
        <Hash name={eventTexts.previous} text={event.prev_hash} />
      </dl>
      {json === undefined ? (
        <p className="text-bad">{eventTexts.unreadable}</p>
      ) : (
        <JsonEditor label={eventTexts.json} value={json} />
      )}
    </Dialog>
  );
}
