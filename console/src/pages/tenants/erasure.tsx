import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { z } from 'zod';
import { useChange } from '../../api/connection.ts';
import { shell } from '../../texts/shell.ts';
import { tenants } from '../../texts/tenants.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';

const texts = tenants.erasure;

/** Erases what a tenant's people wrote and sent, after its ID was typed. */
export function Erasure({ tenantId }: { tenantId: string }) {
  const [isAsked, ask] = useState(false);
  const erase = useChange('eraseTenant');
  const cache = useQueryClient();
  const schema = z.object({ id: z.string().refine((id) => id === tenantId, texts.other) });
  const send = async (): Promise<void> => {
    const done = await erase.mutateAsync({ path: { tenant_id: tenantId } }).catch(() => undefined);
    if (done === undefined) return; // the note says it
    ask(false);
    await cache.invalidateQueries();
  };
  return (
    <Card title={texts.title}>
      <div className="flex flex-col items-start gap-3">
        <p className="text-soft">{texts.say}</p>
        <ul className="list-disc pl-5 text-soft">
          {texts.what.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        {erase.data !== undefined && (
          <p role="status" className="rounded-md bg-good-soft p-2 text-good">
            {erase.data.status === 'erased' ? texts.done : texts.going(erase.data.left)}{' '}
            <Time at={erase.data.erased_at} />
          </p>
        )}
        <Button look="danger" onClick={() => ask(true)}>
          {texts.open}
        </Button>
      </div>
      <Dialog isOpen={isAsked} onOpenChange={ask} title={texts.ask(tenantId)} say={texts.askSay}>
        <Form schema={schema} initial={{ id: '' }} onSubmit={send}>
          <TextField name="id" label={texts.type(tenantId)} autoComplete="off" />
          <ProblemNote error={erase.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => ask(false)}>{shell.cancel}</Button>
            <Button look="danger" type="submit" isBusy={erase.isPending}>
              {texts.submit}
            </Button>
          </div>
        </Form>
      </Dialog>
    </Card>
  );
}
