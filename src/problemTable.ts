interface KnownProblem {
  readonly status: number;
  readonly title: string;
  /** The code that callers see, where it is another one's: one code that has two statuses. */
  readonly wireCode?: string;
}

/** Every problem that the service tells of, and the only place that knows status codes. */
export const PROBLEMS = {
  invalid_schema: { status: 400, title: 'The JSON Schema cannot be used' },
  missing_schema: { status: 400, title: 'A schema is missing' },
  missing_file: { status: 400, title: 'A file is missing' },
  empty_file: { status: 400, title: 'The file is empty' },
  unsupported_file_type: { status: 400, title: 'The file type is not supported' },
  unreadable_file: { status: 400, title: 'The file cannot be read' },
  wrong_password: { status: 400, title: 'The password does not open the file' },
  too_many_pages: { status: 400, title: 'The document has too many pages' },
  unknown_model_provider: { status: 400, title: 'The model provider is not known' },
  unknown_operation: { status: 400, title: 'The operation is not known' },
  unsupported_schema_version: { status: 400, title: 'The schema version is not supported' },
  malformed_json: { status: 400, title: 'The body is not JSON' },
  malformed_request: { status: 400, title: 'The request is not HTTP' },
  invalid_api_key: { status: 401, title: 'The API key is not valid' },
  session_expired: { status: 401, title: 'The session has ended' },
  cross_site_request: { status: 403, title: 'The request comes from another page' },
  https_required: { status: 403, title: 'Signing in needs https here' },
  insufficient_credits: { status: 403, title: 'Not enough credits' },
  budget_reached: { status: 403, title: 'A budget is used up' },
  budget_read_only: { status: 403, title: 'This key may only read budgets' },
  plan_required: { status: 403, title: 'Another plan is required' },
  charge_required: { status: 403, title: 'The charge for this was not made' },
  admin_required: { status: 403, title: 'An admin key is required' },
  tenant_mismatch: { status: 403, title: 'The key belongs to another tenant' },
  not_found: { status: 404, title: 'There is no such route' },
  tenant_not_found: { status: 404, title: 'There is no such tenant' },
  budget_not_found: { status: 404, title: 'There is no such budget' },
  artifact_not_found: { status: 404, title: 'There is no such artifact' },
  config_not_found: { status: 404, title: 'There is no such saved config' },
  operation_not_found: { status: 404, title: 'There is no such operation' },
  batch_not_found: { status: 404, title: 'There is no such batch' },
  review_not_found: { status: 404, title: 'There is no such review' },
  audit_not_found: { status: 404, title: 'There is no such audit' },
  job_not_found: { status: 404, title: 'There is no such job' },
  deployment_not_found: { status: 404, title: 'There is no such deployment' },
  document_not_found: { status: 404, title: 'There is no such document' },
  set_not_found: { status: 404, title: 'There is no such set of examples' },
  table_not_found: { status: 404, title: 'There is no such table' },
  run_not_found: { status: 404, title: 'There is no such run' },
  webhook_not_found: { status: 404, title: 'There is no such webhook' },
  delivery_not_found: { status: 404, title: 'There is no such delivery' },
  key_not_found: { status: 404, title: 'There is no such API key' },
  model_pricing_not_found: { status: 404, title: 'There is no price for this model' },
  fx_rate_not_found: { status: 404, title: 'There is no such exchange rate' },
  receipt_not_found: { status: 404, title: 'There is no such receipt' },
  payment_not_found: { status: 404, title: 'There is no such payment' },
  refund_not_found: { status: 404, title: 'There is no such refund' },
  original_grant_not_found: { status: 404, title: 'The sale to refund does not exist' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  request_timeout: { status: 408, title: 'The request did not come in time' },
  audit_running: { status: 409, title: 'An audit is running' },
  request_in_progress: { status: 409, title: 'The same request is still running' },
  too_many_budgets: { status: 409, title: 'The tenant has too many budgets' },
  insufficient_balance: { status: 409, title: 'The balance is too low' },
  month_not_closable: { status: 409, title: 'The month cannot be closed' },
  month_not_reopenable: { status: 409, title: 'The month cannot be opened again' },
  version_conflict: { status: 409, title: 'Another version was published first' },
  gate_not_passed: { status: 409, title: 'The gate was not passed' },
  last_admin_key: { status: 409, title: 'This is the last admin key' },
  document_in_use: { status: 409, title: 'The document is in use' },
  log_not_sealed: { status: 409, title: 'The log cannot be sealed' },
  fx_rates_conflict: { status: 409, title: 'Other rates are known' },
  payment_not_releasable: { status: 409, title: 'The payment cannot be released' },
  webhook_disabled: { status: 409, title: 'The webhook is disabled' },
  too_many_webhooks: { status: 409, title: 'The tenant has too many webhooks' },
  review_leased: { status: 409, title: 'Somebody else has the review' },
  review_rejected: { status: 422, title: 'A person has rejected the result' },
  review_decided: { status: 409, title: 'The review was decided already' },
  review_expired: { status: 409, title: 'The review is kept no more' },
  job_finished: { status: 409, title: 'The job has ended already' },
  erased: { status: 410, title: 'The document was erased' },
  file_too_large: { status: 413, title: 'The file is too large' },
  upload_quota_exceeded: { status: 413, title: 'The storage quota is used up' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  validation_error: { status: 422, title: 'The request does not fit its schema' },
  refund_mismatch: { status: 422, title: 'The refund does not match its sale' },
  refund_exceeds_original: { status: 422, title: 'The refund exceeds its sale' },
  reversal_exceeds_refund: { status: 422, title: 'The reversal exceeds its refund' },
  idempotency_key_reused: { status: 422, title: 'The identity belongs to another request' },
  currency_not_offered: { status: 422, title: 'The currency is not on the price list' },
  ambiguous_minor_units: { status: 422, title: 'The unit of the amount is not certain' },
  price_mismatch: { status: 422, title: 'Credits and amount do not match the price list' },
  price_list_version_unknown: { status: 422, title: 'The price list version cannot be used' },
  schema_beyond_limits: {
    status: 422,
    title: 'The JSON Schema is larger than a schema may be',
    wireCode: 'invalid_schema',
  },
  table_beyond_limits: { status: 422, title: 'The table is larger than a table may be' },
  output_schema_mismatch: { status: 422, title: 'The output does not fit the schema' },
  unsafe_source_url: { status: 422, title: 'The source URL may not be fetched' },
  unsafe_api_base: { status: 422, title: 'The API base may not be reached' },
  unsafe_webhook_url: { status: 422, title: 'The URL of the webhook may not be reached' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  extraction_failed: { status: 500, title: 'The extraction failed' },
  sorting_failed: { status: 500, title: 'The document could not be sorted' },
  conversion_failed: { status: 500, title: 'The conversion failed' },
  internal_error: { status: 500, title: 'Something broke on our side' },
  source_unavailable: { status: 502, title: 'The document could not be fetched' },
  storage_error: { status: 502, title: 'The object storage failed' },
  model_provider_error: { status: 502, title: 'The model provider failed' },
  provider_timeout: { status: 502, title: 'The model provider did not answer' },
  busy: { status: 503, title: 'Busy' },
  shutting_down: { status: 503, title: 'Shutting down' },
  field_encryption_not_configured: { status: 503, title: 'Field encryption is not configured' },
  not_ready: { status: 503, title: 'Not ready' },
} as const satisfies Record<string, KnownProblem>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** The `code` of an answer. */
export const wireCodeOf = (code: ProblemCode): string => {
  const { wireCode = code }: KnownProblem = PROBLEMS[code];
  return wireCode;
};

/** The codes that callers see, each once and with a page of its own. */
export const WIRE_CODES: readonly string[] = [...new Set(PROBLEM_CODES.map(wireCodeOf))];

export const titleOf = (code: ProblemCode): string => PROBLEMS[code].title;
export const statusOf = (code: ProblemCode): number => PROBLEMS[code].status;

/** One thing that is wrong with a request, and where. */
export interface RequestIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}
