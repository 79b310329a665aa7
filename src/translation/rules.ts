import { rule as advertisement } from "./advertisement.js";
import { rule as bridgeNotices } from "./bridge-notices.js";
import { rule as cacheHints } from "./cache-hints.js";
import { rule as cancellation } from "./cancellation.js";
import { rule as capabilities } from "./capabilities.js";
import { rule as contentBlocks } from "./content-blocks.js";
import { rule as elicitation } from "./elicitation.js";
import { rule as envelope } from "./envelope.js";
import { rule as errorCodes } from "./error-codes.js";
import { rule as extensions } from "./extensions.js";
import { rule as identity } from "./identity.js";
import { rule as inputRequests } from "./input-requests.js";
import { rule as liveness } from "./liveness.js";
import { rule as logLevel } from "./log-level.js";
import { rule as pagination } from "./pagination.js";
import { rule as parameterHeaders } from "./parameter-headers.js";
import { rule as progress } from "./progress.js";
import { rule as resultType } from "./result-type.js";
import { rule as roots } from "./roots.js";
import type { Rule } from "./rule.js";
import { rule as sampling } from "./sampling.js";
import { rule as sessions } from "./sessions.js";
import { rule as structuredContent } from "./structured-content.js";
import { rule as subscriptions } from "./subscriptions.js";
import { rule as tasks } from "./tasks.js";
import { rule as toolSchemas } from "./tool-schemas.js";

/** Every difference between the eras, in the order of the compatibility matrix. */
export const RULES: readonly Rule[] = [
  advertisement,
  sessions,
  envelope,
  identity,
  capabilities,
  resultType,
  cacheHints,
  inputRequests,
  elicitation,
  sampling,
  roots,
  progress,
  cancellation,
  logLevel,
  subscriptions,
  liveness,
  pagination,
  toolSchemas,
  structuredContent,
  contentBlocks,
  parameterHeaders,
  tasks,
  extensions,
  errorCodes,
  bridgeNotices,
];
