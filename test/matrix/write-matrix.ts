import { writeFileSync } from "node:fs";
import { RULES } from "../../src/translation/rules.js";
import { matrixText } from "./matrix-text.js";

writeFileSync(new URL("../../compat-matrix.md", import.meta.url), matrixText(RULES));
