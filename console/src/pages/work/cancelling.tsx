import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { useChange } from '../../api/connection.ts';
import { work as texts } from '../../texts/work.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote } from '../../ui/states.tsx';

/** The time that a piece of work took or takes, in seconds; null: it waits. */
export const secondsOf = (started: string | null, finished: string | null, now: number): number | null =>
  started === null ? null : ((finished === null ? now : Date.parse(finished)) - Date.parse(started)) / 1_000;

interface CancelProps {
  readonly what: 'operation' | 'batch';
  readonly id: string;
}

/** Asks, then cancels what has not ended. */
export function Cancel({ what, id }: CancelProps) {
  const [isAsked, ask] = useState(false);
  const cache = useQueryClient();
  const operation = useChange('cancelOperation');
  const batch = useChange('cancelBatch');
  const words = what === 'operation' ? texts.operations : texts.batches;
  const send = async (): Promise<void> => {
    const sent: Promise<unknown> =
      what === 'operation'
        ? operation.mutateAsync({ path: { operation_id: id } })
        : batch.mutateAsync({ path: { batch_id: id } });
    const isDone = await sent.then(
      () => true,
      () => false,
    );
    if (!isDone) return; // the note says it
    toast(words.cancelled);
    ask(false);
    await cache.invalidateQueries({ queryKey: ['listOperations'] });
    await cache.invalidateQueries({ queryKey: ['listBatches'] });
  };
  return (
    <span onClick={(event) => event.stopPropagation()}>
      <Button size="small" look="quiet" onClick={() => ask(true)}>
        {texts.cancel}
      </Button>
      <Dialog isOpen={isAsked} onOpenChange={ask} title={words.title(id)} say={words.titleSay}>
        <ProblemNote error={operation.error ?? batch.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={() => ask(false)}>{texts.keep}</Button>
          <Button look="danger" isBusy={operation.isPending || batch.isPending} onClick={() => void send()}>
            {texts.confirm[what]}
          </Button>
        </div>
      </Dialog>
    </span>
  );
}
