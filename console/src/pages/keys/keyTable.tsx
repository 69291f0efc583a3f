import { keys as texts } from '../../texts/keys.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/table/dataTable.tsx';
import { Time } from '../../ui/values/time.tsx';
import { nameOf, stateOf, TONES, type Key } from './keys.ts';

export interface KeyActions {
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

function RowActions({ item, onRotate, onRevoke }: KeyActions & { item: Key }) {
  const state = stateOf(item, Date.now());
  if (state === 'revoked' || state === 'over') return null;
  return (
    <span className="flex gap-1" onClick={(event) => event.stopPropagation()}>
      <Button
        size="small"
        look="quiet"
        aria-label={`${texts.rotate.open}: ${nameOf(item)}`}
        onClick={() => onRotate(item)}
      >
        {texts.rotate.open}
      </Button>
      <Button
        size="small"
        look="quiet"
        aria-label={`${texts.revoke.open}: ${nameOf(item)}`}
        onClick={() => onRevoke(item)}
      >
        {texts.revoke.open}
      </Button>
    </span>
  );
}

const { columns: names } = texts;

const columnsOf = (actions: KeyActions): readonly Column<Key>[] => [
  {
    id: 'name',
    name: names.name,
    value: ({ name }) => name,
    show: ({ name }) => name ?? <span className="text-soft">{texts.unnamed}</span>,
    share: 1.6,
  },
  {
    id: 'key',
    name: names.key,
    value: ({ prefix, last4 }) => `${prefix}…${last4}`,
    show: ({ prefix, last4 }) => <code className="text-[13px]">{`${prefix}…${last4}`}</code>,
    share: 1.8,
  },
  { id: 'role', name: names.role, value: ({ role }) => texts.create.roles[role], share: 0.7 },
  {
    id: 'state',
    name: names.state,
    value: (key) => texts.states[stateOf(key, Date.now())],
    show: (key) => {
      const state = stateOf(key, Date.now());
      return <Badge tone={TONES[state]}>{texts.states[state]}</Badge>;
    },
    share: 0.9,
  },
  {
    id: 'created',
    name: names.created,
    value: ({ created_at }) => created_at,
    show: ({ created_at }) => <Time at={created_at} />,
    share: 1.55,
  },
  {
    id: 'used',
    name: names.used,
    value: ({ last_used_at }) => last_used_at,
    show: ({ last_used_at }) => <Time at={last_used_at} />,
    share: 1.55,
  },
  {
    id: 'ends',
    name: names.ends,
    value: ({ expires_at }) => expires_at,
    show: ({ expires_at }) => <Time at={expires_at} />,
    share: 1.55,
  },
  {
    id: 'actions',
    name: names.actions,
    value: () => undefined,
    show: (item) => <RowActions item={item} {...actions} />,
    share: 1.7,
  },
];

interface KeyTableProps extends KeyActions {
  readonly items: readonly Key[] | undefined;
  /** undefined: all of them are there. */
  readonly onMore: (() => void) | undefined;
  readonly isLoadingMore: boolean;
}

/** The keys of a tenant with what can be done to each. */
export function KeyTable({ items, onMore, isLoadingMore, ...actions }: KeyTableProps) {
  return (
    <DataTable
      label={texts.list}
      columns={columnsOf(actions)}
      items={items}
      idOf={({ key_id }) => key_id}
      onMore={onMore}
      isLoadingMore={isLoadingMore}
    />
  );
}
