import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { useChange } from '../../api/hooks.ts';
import { keys as texts } from '../../texts/keys.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { nameOf, type Key } from './keys.ts';

/** Asks before a key stops for good. */
export function RevokeDialog({ chosen, onClose }: { chosen: Key; onClose: () => void }) {
  const cache = useQueryClient();
  const revoke = useChange('revokeApiKey');
  const send = async (): Promise<void> => {
    try {
      await revoke.mutateAsync({ path: { key: chosen.key_id } });
    } catch {
      return; // the note says it
    }
    toast(texts.revoke.done);
    onClose();
    await cache.invalidateQueries({ queryKey: ['listApiKeys'] });
  };
  return (
    <Dialog isOpen onOpenChange={onClose} title={texts.revoke.title(nameOf(chosen))} say={texts.revoke.say}>
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
