import type { Command } from 'commander';
import { configuredChecks } from '../doctor/checks.ts';
import { ConfigError, configFrom, environmentOf, type Config } from '../config.ts';
import { type Check, type Finding, type Level, processChecks, runChecks } from '../doctor/doctor.ts';
import { OperatorError } from '../clientConfig.ts';
import { redactor } from '../redact.ts';
import { type AsJson, command, json, type Output, type Paint, table, type Tone } from './terminal.ts';

interface DoctorOptions extends AsJson {
  readonly deep?: boolean;
}

/** The configuration, or what is wrong with it: a line for each variable. */
const configRead = (): { readonly config: Config | undefined; readonly findings: readonly Finding[] } => {
  const check = 'environment';
  try {
    const config = configFrom();
    return { config, findings: [{ check, level: 'ok', text: 'Every variable makes sense.' }] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.message.split('\n');
    return { config: undefined, findings: lines.map((text) => ({ check, level: 'problem', text })) };
  }
};

const count = (findings: readonly Finding[], level: Level): number =>
  findings.filter((finding) => finding.level === level).length;

const TONES: Readonly<Record<Level, Tone>> = { ok: 'good', warning: 'warning', problem: 'bad' };

/** A line for each finding, and what they come to. */
const doctorText = (findings: readonly Finding[], paint: Paint): string => {
  const lines = findings.map(({ check, level, text }) => [level, check, text]);
  const [problems, warnings] = [count(findings, 'problem'), count(findings, 'warning')];
  const verdict =
    problems + warnings === 0
      ? 'Nothing is wrong.'
      : `${String(problems)} ${problems === 1 ? 'problem' : 'problems'}, ${String(warnings)} ` +
        `${warnings === 1 ? 'warning' : 'warnings'}.`;
  const [header = '', ...rows] = table(['', 'CHECK', 'FINDING'], lines).split('\n');
  const painted = rows.map((row, at) => {
    const level = findings[at]?.level;
    return level === undefined
      ? row
      : paint(TONES[level], row.slice(0, level.length)) + row.slice(level.length);
  });
  return `${[paint('heading', header), ...painted].join('\n')}\n${paint('heading', verdict)}\n`;
};

const run = async (
  { out, note, signal, paint }: Output,
  { deep = false, json: asJson }: DoctorOptions,
): Promise<void> => {
  const env = environmentOf();
  const { config, findings: first } = configRead();
  const nowMs = () => Date.now();
  const checks: readonly Check[] = [
    ...processChecks(nowMs),
    ...(config === undefined ? [] : configuredChecks({ config, env, deep, nowMs })),
  ];
  const shown = redactor(env);
  const findings = [...first, ...(await runChecks(checks, signal))].map((finding) => ({
    ...finding,
    text: shown(finding.text),
  }));
  await out(asJson === true ? json(findings) : doctorText(findings, paint));
  if (config === undefined)
    note(
      'The parts were not checked, because the environment is invalid: fix it and run this command again.\n',
    );
  const problems = count(findings, 'problem');
  if (problems > 0) throw new OperatorError(asJson === true ? `${String(problems)} problems` : '');
};

/** `quire doctor`. */
export const addDoctor = (program: Command): void => {
  program
    .command('doctor')
    .description('check the environment and every part that it names, and say what to fix')
    .option('--deep', 'check the hash chains of the whole embedded log, however long it takes')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nRun it with the environment of the service, beside it or before its first start. It ' +
        'changes nothing\nbut an object in the bucket, which it removes again, and asks no model ' +
        'provider. Secrets are never shown.\nExit codes: 0 nothing is wrong or there are only ' +
        'warnings, 1 there are problems.',
    )
    .action(command(run));
};
