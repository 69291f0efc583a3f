import { useState } from 'react';
import { api } from '../../api/connection.ts';
import { keys as texts } from '../../texts/keys.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/form/select.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { nameOf, type Issued, type Key } from './keys.ts';
import { useIssue } from './useIssue.ts';

const { rotate } = texts;
const GRACES = Object.entries(rotate.graces).map(([value, name]) => ({ value, name }));

interface RotateDialogProps {
  readonly chosen: Key;
  readonly onClose: () => void;
  readonly onIssued: (issued: Issued) => void;
}

/** Replaces a key; the old one goes on for a while, so that nothing stops meanwhile. */
export function RotateDialog({ chosen, onClose, onIssued }: RotateDialogProps) {
  const [grace, setGrace] = useState('86400');
  const { run, error, isBusy } = useIssue(onIssued);
  const send = (): Promise<void> =>
    run(() => api.rotateApiKey({ body: { key: chosen.key_id, grace_seconds: Number(grace) } }));
  return (
    <Dialog isOpen onOpenChange={onClose} title={rotate.title(nameOf(chosen))} say={rotate.say}>
      <div className="flex flex-col gap-1">
        <span className="font-medium">{rotate.grace}</span>
        <Select label={rotate.grace} choices={GRACES} value={grace} onChange={setGrace} />
      </div>
      <ProblemNote error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="primary" isBusy={isBusy} onClick={() => void send()}>
          {rotate.submit}
        </Button>
      </div>
    </Dialog>
  );
}
