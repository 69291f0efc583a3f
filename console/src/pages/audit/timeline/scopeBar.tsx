import { Download, RefreshCw } from '../../../ui/icons/icons.tsx';
import { useState } from 'react';
import { EVENTS_MAX, eventsAddress } from '../../../api/events.ts';
import { useRead } from '../../../api/hooks.ts';
import { audit } from '../../../texts/audit.ts';
import { Button } from '../../../ui/button.tsx';
import { CONTROL } from '../../../ui/form/control.ts';
import { Select } from '../../../ui/form/select.tsx';
import type { AuditAddress } from '../address.ts';

const texts = audit.scope;

interface FilterProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly isNumber?: boolean;
  readonly list?: string;
}

/** A text that takes effect on Enter or when it is left. */
function Filter({ label, hint, value = '', onChange, isNumber, list }: FilterProps) {
  const [typed, type] = useState<string>();
  const take = (): void => {
    const text = typed?.trim();
    type(undefined);
    if (text === undefined || text === value) return;
    if (text === '') onChange(undefined);
    else if (isNumber !== true || /^\d{1,18}$/.test(text)) onChange(text);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        take();
      }}
      className="flex min-w-36 flex-1 flex-col gap-1"
    >
      <label className="flex flex-col gap-1 text-[13px] text-soft">
        {label}
        <input
          value={typed ?? value}
          placeholder={hint}
          list={list}
          inputMode={isNumber === true ? 'numeric' : undefined}
          onChange={({ target }) => type(target.value)}
          onBlur={take}
          className={CONTROL}
        />
      </label>
    </form>
  );
}

interface ScopeBarProps {
  readonly at: AuditAddress;
  readonly onChange: (change: AuditAddress) => void;
  readonly onAgain: () => void;
}

/** Which events are shown, and their file. */
export function ScopeBar({ at, onChange, onAgain }: ScopeBarProps) {
  const { stream, tenant, order, from } = at;
  const tenants = useRead('listTenants', { query: { limit: 100 } });
  const isAll = stream === undefined && tenant === undefined && from === undefined;
  const address = eventsAddress({ stream, tenant_id: tenant, limit: EVENTS_MAX });
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Filter
        label={texts.stream}
        hint={texts.streamHint}
        value={stream}
        onChange={(next) => onChange({ stream: next, from: undefined })}
      />
      <Filter
        label={texts.tenant}
        hint={texts.tenantHint}
        value={tenant}
        list="audit-tenants"
        onChange={(next) => onChange({ tenant: next, from: undefined })}
      />
      <datalist id="audit-tenants">
        {tenants.data?.items.map(({ tenant_id }) => (
          <option key={tenant_id} value={tenant_id} />
        ))}
      </datalist>
      <Filter
        label={stream === undefined ? texts.fromPosition : texts.fromRevision}
        hint={texts.fromHint}
        value={from}
        isNumber
        onChange={(next) => onChange({ from: next })}
      />
      <div className="w-36">
        <Select
          label={texts.order}
          value={order === 'oldest' ? 'oldest' : 'newest'}
          choices={[
            { value: 'newest', name: texts.newest },
            { value: 'oldest', name: texts.oldest },
          ]}
          onChange={(next) => onChange({ order: next === 'oldest' ? next : undefined })}
        />
      </div>
      {!isAll && (
        <Button
          look="quiet"
          onClick={() => onChange({ stream: undefined, tenant: undefined, from: undefined })}
        >
          {texts.clear}
        </Button>
      )}
      <Button size="icon" aria-label={texts.again} onClick={onAgain}>
        <RefreshCw aria-hidden className="size-4" />
      </Button>
      <Button asChild>
        <a href={address} download={`events-${stream ?? tenant ?? 'all'}.ndjson`}>
          <Download aria-hidden className="size-4" />
          {texts.export}
        </a>
      </Button>
    </div>
  );
}
