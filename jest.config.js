const jestJupyterLab = require('@jupyterlab/testutils/lib/jest-config');

// Published as ES modules, which jest reads only after a transform.
const esModules = [
  '@codemirror',
  '@jupyter/ydoc',
  '@jupyter/react-components',
  '@jupyter/web-components',
  '@jupyterlab/',
  '@marijn/find-cluster-break',
  '@microsoft/',
  '@rjsf/',
  'exenv-es6',
  'lib0',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'y-websocket',
  'yjs'
].join('|');

const base = jestJupyterLab(__dirname);

module.exports = {
  ...base,
  coverageDirectory: 'coverage',
  coverageReporters: ['text-summary', 'lcov'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.{ts,tsx}', '!src/protocol/types.ts'],
  modulePathIgnorePatterns: [
    // JupyterLab's Python package has the same mock packages in each venv.
    '<rootDir>/\\.venv',
    '<rootDir>/extension/.*/labextension',
    '<rootDir>/lib'
  ],
  testRegex: 'tests/ts/.*\\.spec\\.tsx?$',
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/lib/'],
  reporters: ['default'],
  transform: {
    ...base.transform,
    '\\.(ts|tsx)$': [
      'ts-jest',
      // `types:check` checks the types.
      { tsconfig: 'tsconfig.test.json', diagnostics: false }
    ]
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules}))`]
};
