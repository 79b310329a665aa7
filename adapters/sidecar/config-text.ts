/**
 * Blanks out what editors allow in their JSON files and `JSON.parse` does not: comments, and commas
 * before a closing bracket. Positions stay, so that error messages point at the right place.
 */
export function toPlainJson(text: string): string {
  const tokens =
    /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]])/g;
  return text
    .replace(/^\uFEFF/, " ")
    .replace(tokens, (token) => (token.startsWith('"') ? token : token.replace(/[^\n]/g, " ")));
}
