const weather = await tools.get_weather({ city: 'Graz' });
return weather;
