import type { ConfigResponse, ExtractionResult } from '@quire/client';
import { useState } from 'react';
import { useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { playground } from '../../texts/playground.ts';
import { modes } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { CONTROL } from '../../ui/style.ts';
import { Going } from '../../document/conversion.tsx';
import { useReading, VALUES, type AskedValues } from '../../document/reading.ts';
import { ReadingTable } from '../../document/readingTable.tsx';
import { isMode, type Mode } from '../../document/runOptions.tsx';

const { readings: texts } = playground;

const MODES = (['fast', 'standard', 'robust'] as const).map((value) => ({ value, name: modes[value] }));
/** The mode that a config says. */
const OF_CONFIG = 'config';
/** The schema that is there, and no config. */
const SAME = 'same';

interface ReadingsBesideProps {
  readonly file: File;
  readonly pages: number | undefined;
  /** The schema of the reading that is there. */
  readonly schema: string;
  readonly answer: ExtractionResult;
}

interface Priced {
  readonly pages: number | undefined;
  readonly mode: Mode;
}

/** What another reading would cost; undefined where that is not known before. */
const useCost = ({ pages, mode: extraction_mode }: Priced): number | undefined => {
  const tenant_id = useTenantId();
  const query = { operation: 'extract', billing_type: 'full_service', tenant_id, extraction_mode } as const;
  const asked = { query: { ...query, pages: pages ?? 1 } };
  return useRead('getQuote', asked, { enabled: pages !== undefined }).data?.credits;
};

/** How the other reading is done: by a config or the same schema, in a mode, by a model. */
const useOther = () => {
  const tenant_id = useTenantId();
  const configs = useRead('listConfigs', { query: { tenant_id } }).data?.items ?? [];
  const [chosen, choose] = useState(SAME);
  const [own, chooseMode] = useState<string>('robust');
  const [model, write] = useState('');
  const config = configs.find(({ config_id }) => config_id === chosen);
  const mode = config === undefined && own === OF_CONFIG ? 'robust' : own;
  return {
    configs,
    config,
    chosen,
    mode,
    model,
    write,
    chooseMode,
    choose: (next: string) => {
      choose(next);
      chooseMode(next === SAME ? 'robust' : OF_CONFIG);
    },
  };
};
type Other = ReturnType<typeof useOther>;

/** What a request says of it. A config without a schema reads by the one that is there. */
const askedBy = ({ config, mode, model }: Other, schema: string): Pick<AskedValues, 'schema'> => ({
  schema: config?.schema == null ? schema : JSON.stringify(config.schema),
  ...(config === undefined ? {} : { config: config.config_id }),
  ...(isMode(mode) ? { mode } : {}),
  ...(model === '' ? {} : { model }),
});

const nameOf = ({ name, config_id }: ConfigResponse): string => name ?? config_id;

function Options({ other }: { other: Other }) {
  const { configs, config, chosen, mode, model } = other;
  const named = configs.map((one) => ({ value: one.config_id, name: nameOf(one) }));
  const ofConfig = config === undefined ? [] : [{ value: OF_CONFIG, name: texts.ofConfig }];
  return (
    <>
      {configs.length > 0 && (
        <span className="w-44">
          <Select
            label={texts.config}
            choices={[{ value: SAME, name: texts.sameSchema }, ...named]}
            value={chosen}
            onChange={other.choose}
          />
        </span>
      )}
      <span className="w-44">
        <Select
          label={texts.mode}
          choices={[...ofConfig, ...MODES]}
          value={mode}
          onChange={other.chooseMode}
        />
      </span>
      <input
        aria-label={texts.model}
        placeholder={texts.modelSay}
        value={model}
        onChange={({ target }) => other.write(target.value.trim())}
        className={`${CONTROL} max-w-64 flex-1 basis-40`}
      />
    </>
  );
}

/** The same document by another config, in another mode or by another model, beside what was read before. */
export function ReadingsBeside({ file, pages, schema, answer }: ReadingsBesideProps) {
  const tenant_id = useTenantId();
  const { reading, step, stop } = useReading(VALUES);
  const other = useOther();
  const { mode, config, configs } = other;
  const credits = useCost({ pages, mode: isMode(mode) ? mode : (config?.mode ?? 'standard') });
  const asked: AskedValues = { file, pages, tenant_id, ...askedBy(other, schema) };
  const read = (): void => reading.mutate(asked);
  const by = configs.find(({ config_id }) => config_id === reading.variables?.config);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-2">
        <Options other={other} />
        <Button isBusy={reading.isPending} onClick={read}>
          {texts.read}
        </Button>
      </div>
      {reading.isPending ? (
        <Going step={step} onStop={stop} />
      ) : (
        <p className="text-[13px] text-soft">{texts.say(credits)}</p>
      )}
      <ProblemNote error={reading.error} onRetry={read} />
      {reading.data !== undefined && (
        <ReadingTable
          one={{ answer, schema }}
          other={{
            answer: reading.data,
            schema: reading.variables.schema,
            config: by && nameOf(by),
          }}
        />
      )}
    </div>
  );
}
