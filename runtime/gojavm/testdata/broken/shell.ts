ls -la src && cat src/app.cfg
