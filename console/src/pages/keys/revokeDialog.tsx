import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { useChange } from '../../api/hooks.ts';
import { keys as texts } from '../../texts/keys.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { isLive, madeWith, nameOf, type Key } from './keys.ts';

interface RevokeDialogProps {
  readonly chosen: Key;
  /** All keys that are listed: those that were made with the chosen one are asked after. */
  readonly items: readonly Key[];
  readonly onClose: () => void;
}

interface MadeProps {
  readonly made: readonly Key[];
  readonly isChecked: boolean;
  readonly onCheck: (isChecked: boolean) => void;
}

/** What was made with the key, which whoever has the key may know. */
function Made({ made, isChecked, onCheck }: MadeProps) {
  return (
    <label className="flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-1"
        checked={isChecked}
        onChange={({ target }) => onCheck(target.checked)}
      />
      <span>
        {texts.revoke.made}
        {made.length > 0 && <span className="block text-soft">{made.map(nameOf).join(', ')}</span>}
      </span>
    </label>
  );
}

/** Asks before a key stops for good, and after the keys that were made with it. */
export function RevokeDialog({ chosen, items, onClose }: RevokeDialogProps) {
  const made = madeWith(chosen, items).filter((key) => isLive(key, Date.now()));
  // An admin's may be keys of other tenants, which are not listed here.
  const mayHaveMade = made.length > 0 || chosen.role === 'admin';
  const [isWithMade, setWithMade] = useState(false);
  const cache = useQueryClient();
  const revoke = useChange('revokeApiKey');
  const send = async (): Promise<void> => {
    try {
      await revoke.mutateAsync({
        path: { key: chosen.key_id },
        query: { made: isWithMade ? 'revoke' : 'keep' },
      });
    } catch {
      return; // the note says it
    }
    toast(texts.revoke.done);
    onClose();
    await cache.invalidateQueries({ queryKey: ['listApiKeys'] });
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.revoke.title(nameOf(chosen))} say={texts.revoke.say}>
      {mayHaveMade && <Made made={made} isChecked={isWithMade} onCheck={setWithMade} />}
      <ProblemNote error={revoke.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={revoke.isPending} onClick={() => void send()}>
          {texts.revoke.submit}
        </Button>
      </div>
    </Dialog>
  );
}
