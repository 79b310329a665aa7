const layers = {
  jsonrpc: [],
  framing: ["jsonrpc"],
  model: ["jsonrpc"],
  ports: ["jsonrpc", "model"],
  wire: ["jsonrpc", "model"],
  translation: ["jsonrpc", "model"],
  front: ["jsonrpc", "framing", "model", "ports", "wire", "translation"],
  upstream: ["jsonrpc", "framing", "model", "ports", "wire", "translation"],
  bridge: ["jsonrpc", "framing", "model", "ports", "wire", "translation", "front", "upstream"],
};

const error = (name, from, to) => ({ name, severity: "error", from, to });

const seesOnlyItsLayers = Object.entries(layers).map(([layer, above]) =>
  error(
    `${layer}-sees-only-its-layers`,
    { path: `^src/${layer}/` },
    { path: "^src/", pathNot: [`^src/(${[layer, ...above].join("|")})/`, "^src/errors[.]ts$"] },
  ),
);

module.exports = {
  forbidden: [
    ...seesOnlyItsLayers,
    error("src-never-imports-adapters", { path: "^src/" }, { path: "^adapters/" }),
    error("src-does-no-io", { path: "^src/" }, { dependencyTypes: ["core"] }),
    error(
      "only-wire-knows-zod",
      { path: "^src/", pathNot: "^src/wire/" },
      { path: "node_modules/zod" },
    ),
    error(
      "src-has-one-dependency",
      { path: "^src/" },
      { dependencyTypes: ["npm", "npm-dev"], pathNot: "node_modules/zod" },
    ),
    error(
      "eras-do-not-know-each-other",
      { path: "^src/wire/(legacy|modern)/" },
      { path: "^src/wire/(legacy|modern)/", pathNot: "^src/wire/$1/" },
    ),
    error(
      "adapters-use-the-front-door",
      { path: "^adapters/" },
      { path: "^src/", pathNot: "^src/index[.]ts$" },
    ),
    error(
      "only-cli-and-sidecar-compose",
      { path: "^adapters/(stdio|http|websocket|memory|system)/" },
      { path: "^adapters/", pathNot: "^adapters/$1/" },
    ),
    error("no-cycles", {}, { circular: true }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: { extensions: [".ts", ".js"] },
  },
};
