import { useState } from 'react';
import { useRead } from '../api/connection.ts';
import { useTenantId } from '../api/session.ts';
import { playground } from '../texts/playground.ts';
import { modes } from '../texts/shell.ts';
import { Select } from '../ui/select.tsx';
import { CONTROL } from '../ui/style.ts';

const { options: texts } = playground;

const MODES = ['fast', 'standard', 'robust'] as const;
export type Mode = (typeof MODES)[number];
const MODE_CHOICES = MODES.map((value) => ({ value, name: modes[value] }));

/** How a document is read; an empty text says nothing. */
export interface RunOptions {
  readonly mode: Mode;
  readonly model: string;
  readonly pages: string;
  readonly config: string;
}

export const isMode = (text: unknown): text is Mode => MODES.some((mode) => mode === text);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The options of an earlier request. */
export const optionsOf = (request: Readonly<Record<string, unknown>> | null | undefined): RunOptions => ({
  mode: isMode(request?.['mode']) ? request['mode'] : 'standard',
  model: textOf(request?.['llm_provider_model']),
  pages: textOf(request?.['pages']),
  config: textOf(request?.['config_id']),
});

/** The options as a request says them. */
export const askedBy = ({ mode, model, pages, config }: RunOptions) => ({
  mode,
  ...(model === '' ? {} : { model }),
  ...(pages === '' ? {} : { chosen: pages }),
  ...(config === '' ? {} : { config }),
});

const PART = /^(\d+)(?:-(\d*))?$/;

/** How many pages of a document a choice names, such as `1-3,5`; undefined where that is not known. */
export const pagesChosen = (choice: string, total: number | undefined): number | undefined => {
  if (choice.trim() === '' || total === undefined) return total;
  const chosen = new Set<number>();
  for (const part of choice.split(',')) {
    const [, from, to] = PART.exec(part.trim()) ?? [];
    if (from === undefined) return undefined;
    const last = to === undefined ? Number(from) : to === '' ? total : Number(to);
    for (let page = Number(from); page <= Math.min(last, total); page += 1) chosen.add(page);
  }
  return chosen.size === 0 ? undefined : chosen.size;
};

const NO_CONFIG = 'none';

interface RunOptionsBarProps {
  readonly options: RunOptions;
  readonly onChange: (options: RunOptions) => void;
  /** Told the schema of a config that is chosen. */
  readonly onSchema: (text: string) => void;
}

function ConfigPicker({ options, onChange, onSchema }: RunOptionsBarProps) {
  const tenant_id = useTenantId();
  const { data } = useRead('listConfigs', { query: { tenant_id } });
  const configs = data?.items ?? [];
  if (configs.length === 0 && options.config === '') return null;
  const named = configs.map(({ config_id, name }) => ({ value: config_id, name: name ?? config_id }));
  const isKnown = options.config === '' || named.some(({ value }) => value === options.config);
  const own = isKnown ? [] : [{ value: options.config, name: options.config }];
  return (
    <span className="w-44">
      <Select
        label={texts.config}
        choices={[{ value: NO_CONFIG, name: texts.noConfig }, ...named, ...own]}
        value={options.config === '' ? NO_CONFIG : options.config}
        onChange={(value) => {
          const chosen = configs.find(({ config_id }) => config_id === value);
          onChange({ ...options, config: chosen?.config_id ?? '', mode: chosen?.mode ?? options.mode });
          if (chosen?.schema != null) onSchema(JSON.stringify(chosen.schema, undefined, 2));
        }}
      />
    </span>
  );
}

interface ShortTextProps {
  readonly label: string;
  readonly say: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** A few words that count once one has typed them. */
function ShortText({ label, say, value, onChange }: ShortTextProps) {
  const [text, type] = useState(value);
  return (
    <input
      aria-label={label}
      placeholder={say}
      value={text}
      onChange={({ target }) => {
        type(target.value);
        onChange(target.value.trim());
      }}
      className={`${CONTROL} max-w-56 min-w-36 flex-1`}
    />
  );
}

/** How thoroughly documents are read. */
export function ModePicker({ mode, onChange }: { mode: Mode; onChange: (mode: Mode) => void }) {
  return (
    <span className="w-32">
      <Select
        label={texts.mode}
        choices={MODE_CHOICES}
        value={mode}
        onChange={(chosen) => onChange(isMode(chosen) ? chosen : 'standard')}
      />
    </span>
  );
}

/** A model of a provider, by the key of the service; an empty text is none. */
export function ModelText({ model, onChange }: { model: string; onChange: (model: string) => void }) {
  return <ShortText label={texts.model} say={texts.modelSay} value={model} onChange={onChange} />;
}

/** Mode, config, pages and model of the next run. */
export function RunOptionsBar({ options, onChange, onSchema }: RunOptionsBarProps) {
  return (
    <div role="group" aria-label={texts.title} className="flex flex-wrap items-center gap-2">
      <ModePicker mode={options.mode} onChange={(mode) => onChange({ ...options, mode })} />
      <ConfigPicker options={options} onChange={onChange} onSchema={onSchema} />
      <ShortText
        label={texts.pages}
        say={texts.pagesSay}
        value={options.pages}
        onChange={(pages) => onChange({ ...options, pages })}
      />
      <ModelText model={options.model} onChange={(model) => onChange({ ...options, model })} />
    </div>
  );
}
