/** What a tool was given is no use; the agent is told the sentence. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
