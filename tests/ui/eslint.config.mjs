import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

// Rules that need types are oxlint's: see .oxlintrc.json.
export default tseslint.config(
  { ignores: ['node_modules', 'artifacts', '**/*.mjs'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: {
      globals: globals.node
    },
    rules: {
      curly: ['error', 'all'],
      eqeqeq: 'error'
    }
  },
  prettier
);
