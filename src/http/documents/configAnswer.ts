import type { ChannelSettings, ConfigVersion } from '../../../domain/savedConfig.ts';

const channelAnswer = (settings: ChannelSettings | null) => {
  if (settings === null) return null;
  const { secret_id, ...shown } = settings;
  return { ...shown, has_api_key: secret_id !== null };
};

/** `ConfigResponse`: never a key. */
export const configAnswer = ({ llm, ocr, ...version }: ConfigVersion) => ({
  ...version,
  min_confidence: version.min_confidence ?? null,
  llm: channelAnswer(llm),
  ocr: channelAnswer(ocr),
});
