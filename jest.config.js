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
  moduleNameMapper: {
    ...base.moduleNameMapper,
    // JupyterLab's forms, which nothing here shows, are slow to load.
    '^@rjsf/': 'identity-obj-proxy'
  },
  modulePathIgnorePatterns: [
    // JupyterLab's Python package has the same mock packages in each venv.
    '<rootDir>/\\.venv',
    '<rootDir>/extension/.*/labextension',
    '<rootDir>/lib'
  ],
  setupFiles: [...base.setupFiles, '<rootDir>/tests/ts/setup.ts'],
  testRegex: 'tests/ts/.*\\.spec\\.tsx?$',
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/lib/'],
  reporters: ['default'],
  // Far more than anything takes: a busy machine must not fail a test.
  testTimeout: 600_000,
  transform: {
    '\\.svg$': base.transform['\\.svg$'],
    '^.+\\.[jt]sx?$': '<rootDir>/jest.transform.js'
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules}))`]
};
