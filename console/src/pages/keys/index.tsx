import { Plus } from '../../ui/icons/icons.tsx';
import { useState } from 'react';
import { faultOf } from '../../api/faults.ts';
import { usePages, type Pages } from '../../api/usePages.ts';
import { useTenantId } from '../../api/useSession.ts';
import { keys as texts } from '../../texts/keys.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { PageHeader } from '../../ui/pageHeader.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { CreateDialog } from './createDialog.tsx';
import { isLive, type Issued, type Key } from './keys.ts';
import { KeyTable } from './keyTable.tsx';
import { RevokeDialog } from './revokeDialog.tsx';
import { RotateDialog } from './rotateDialog.tsx';
import { SecretDialog } from './secretDialog.tsx';

type Doing =
  | { readonly what: 'create' }
  | { readonly what: 'rotate' | 'revoke'; readonly key: Key }
  | { readonly what: 'show'; readonly issued: Issued };

interface DialogsProps {
  readonly items: readonly Key[];
  readonly doing: Doing;
  readonly onDo: (doing: Doing | undefined) => void;
}

function Dialogs({ items, doing, onDo }: DialogsProps) {
  const onClose = (): void => onDo(undefined);
  const onIssued = (issued: Issued): void => onDo({ what: 'show', issued });
  if (doing.what === 'create') return <CreateDialog onClose={onClose} onIssued={onIssued} />;
  if (doing.what === 'show') return <SecretDialog issued={doing.issued} onStored={onClose} />;
  const { what, key } = doing;
  if (what === 'revoke') return <RevokeDialog chosen={key} items={items} onClose={onClose} />;
  return <RotateDialog chosen={key} onClose={onClose} onIssued={onIssued} />;
}

interface ListedProps extends Pick<Pages<Key>, 'items' | 'more' | 'isLoadingMore'> {
  readonly onDo: (doing: Doing) => void;
}

/** The keys that are there, with those that are over where they are asked for. */
function Listed({ items, more, isLoadingMore, onDo }: ListedProps) {
  const [isAll, showAll] = useState(false);
  const open = (
    <Button look="primary" onClick={() => onDo({ what: 'create' })}>
      <Plus aria-hidden className="size-4" />
      {texts.create.open}
    </Button>
  );
  if (items?.length === 0)
    return (
      <Empty title={texts.empty.title} say={texts.empty.say}>
        {open}
      </Empty>
    );
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-4">
        {open}
        <label className="flex items-center gap-2 text-soft">
          <input type="checkbox" checked={isAll} onChange={({ target }) => showAll(target.checked)} />
          {texts.showAll}
        </label>
      </div>
      <KeyTable
        items={items?.filter((key) => isAll || isLive(key, Date.now()))}
        onMore={more}
        isLoadingMore={isLoadingMore}
        onRotate={(key) => onDo({ what: 'rotate', key })}
        onRevoke={(key) => onDo({ what: 'revoke', key })}
      />
    </>
  );
}

function KeyList() {
  const tenant_id = useTenantId();
  const list = usePages('listApiKeys', { path: { tenant_id } });
  const [doing, onDo] = useState<Doing>();
  // A tenant begins with its first key: until then nobody has heard of it.
  const { error } = list;
  const isNew = error !== null && faultOf(error).code === 'tenant_not_found';
  const isBroken = error !== null && !isNew;
  return (
    <div className="flex flex-col gap-4">
      {isBroken && <ProblemNote error={error} onRetry={list.again} />}
      {!isBroken && <Listed {...list} items={isNew ? [] : list.items} onDo={onDo} />}
      {doing !== undefined && <Dialogs items={list.items ?? []} doing={doing} onDo={onDo} />}
    </div>
  );
}

/** Keys: made, shown once, replaced, revoked. */
export default function KeysPage() {
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <KeyList />
      </ForTenant>
    </>
  );
}
